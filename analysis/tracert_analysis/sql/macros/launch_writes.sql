-- What a launch writes: the rows of `access` for it.
CREATE MACRO launch_writes(launch) AS TABLE
FROM access AS a WHERE a.launch = launch AND a.mode = 'write' ORDER BY a.row, a.index, a.page, a.certain DESC;
