"""What a report tells of its subjects, a file each: plain values, made by the modules that ask for them.

`queries` are the numbers, in `Report.queries`, of the SQL that gave a story; 0 where nothing was asked.
"""
