"""Stages: queues, workers, retries, coalescing, and worker processes."""
