"""Pages from the network: http, the browser and its checking proxy."""
