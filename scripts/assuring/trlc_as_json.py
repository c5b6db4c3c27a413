# SPDX-License-Identifier: MIT
"""python3 trlc_as_json.py FOLDER: its objects as JSON; status 1, with TRLC's words: mistakes.

A process of its own: TRLC is a program that somebody brings, and no part of gidway.
"""

import json
import os
import sys

from trlc.errors import Message_Handler
from trlc.trlc import Source_Manager


def main(folder: str) -> int:
    os.chdir(folder)
    manager = Source_Manager(Message_Handler(brief=True, detailed_info=False))
    manager.register_directory(".")
    symbols = manager.process()
    if symbols is None:
        return 1
    objects = [
        {
            "type": item.n_typ.name,
            "name": item.name,
            "file": os.path.normpath(item.location.file_name),
            "line": item.location.line_no,
            "fields": item.to_python_dict(),
        }
        for item in symbols.iter_record_objects()
    ]
    json.dump(objects, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
