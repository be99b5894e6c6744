"""The CPU time of grading a table of 40 rows and 7 columns, written as models write tables.

    python -m bench.tables

Last output (Python 3.11, one core of a virtual machine with 2 cores; target: 6 ms):

    markdown: 3.53 ms a table, mean cell F1 0.668
    json: 3.58 ms a table, mean cell F1 0.668
    csv: 3.72 ms a table, mean cell F1 0.668
"""

import json
import random
import time

from grader.kinds.table.scoring import TableGrader
from grader.tasks.table import TableTask

ROWS = 40
TABLES = 300
COLUMNS = {
    "시도": "name",
    "회차": "int",
    "당선자": "name",
    "생년월일": "date:YYYY-MM-DD",
    "득표율": "float:2",
    "득표수": "int",
    "정당": "enum:가나당|다라당|무소속",
}


def gold(chance: random.Random) -> list[dict[str, str]]:
    return [
        {
            "시도": f"고장{number // 2}",
            "회차": str(7 + number % 2),
            "당선자": "".join(chance.choices("김이박최정강조윤장임", k=3)),
            "생년월일": f"{chance.randint(1940, 1999)}-{number % 12 + 1:02}-{number % 28 + 1:02}",
            "득표율": f"{chance.uniform(30, 80):.2f}",
            "득표수": str(chance.randint(10_000, 9_999_999)),
            "정당": chance.choice(("가나당", "다라당", "무소속")),
        }
        for number in range(ROWS)
    ]


def noisy(name: str, value: str, chance: random.Random) -> str:
    year, _, rest = value.partition("-")
    forms = {
        "회차": (value, f"제{value}회", f"{value}회"),
        "생년월일": (value, value.replace("-", ". "), f"{year}년 {rest.replace('-', '월 ')}일"),
        "득표율": (value, f"{value}%", f"{value} %"),
        "득표수": (value, f"{int(value or 0):,}명" if name == "득표수" else value, f"약 {value}"),
    }.get(name, (value, f"**{value}**", f"{value}[1]", f"{value} (金某)"))
    return chance.choice(forms)


def responses(rows: list[dict[str, str]], chance: random.Random) -> list[str]:
    """The rows, shuffled and in other spellings, as Markdown, JSON and CSV."""
    rows = [{name: noisy(name, row[name], chance) for name in row} for row in rows]
    chance.shuffle(rows)
    lines = [list(COLUMNS), *(list(row.values()) for row in rows)]
    markdown = ["| " + " | ".join(line) + " |" for line in lines]
    markdown.insert(1, "|---" * len(COLUMNS) + "|")
    quoted = (",".join(f'"{cell}"' for cell in line) for line in lines)
    return [
        "\n".join(markdown),
        "```json\n" + json.dumps(rows, ensure_ascii=False, indent=1) + "\n```",
        "```csv\n" + "\n".join(quoted) + "\n```",
    ]


def main() -> None:
    chance = random.Random(7)
    rows = gold(chance)
    grader = TableGrader(
        TableTask.model_validate(
            {
                "name": "bench",
                "kind": "table",
                "columns": [{"name": name, "format": form} for name, form in COLUMNS.items()],
                "key_columns": ["시도", "회차"],
                "rows": rows,
            }
        )
    )
    forms = [responses(gold(chance) if n % 2 else rows, chance) for n in range(TABLES)]
    for number, form in enumerate(("markdown", "json", "csv")):
        grader.grade(forms[0][number])
        started = time.process_time()
        f1 = sum(grader.grade(texts[number]).score.cell.f1 for texts in forms)
        took = (time.process_time() - started) / TABLES
        print(f"{form}: {1000 * took:.2f} ms a table, mean cell F1 {f1 / TABLES:.3f}")


if __name__ == "__main__":
    main()
