"""The command `assay` starts here."""

from grader.commands.front import main

if __name__ == "__main__":
    main()
