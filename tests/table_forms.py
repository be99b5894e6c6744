"""A table as a system may write it: JSON, Markdown, CSV."""

import csv
import io
import json


def as_json(names, rows):
    return json.dumps([dict(zip(names, row, strict=True)) for row in rows], ensure_ascii=False)


def as_markdown(names, rows):
    def line(cells):
        texts = (cell.replace("|", "\\|").replace("\r\n", "\n") for cell in cells)
        return "| " + " | ".join("<br>".join(text.splitlines()) for text in texts) + " |"

    return "\n".join([line(names), "|" + "---|" * len(names), *map(line, rows)])


def as_csv(names, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([names, *rows])
    return f"`````csv\n{out.getvalue()}`````"


FORMS = {"json": as_json, "markdown": as_markdown, "csv": as_csv}
