-- What a launch reads: the rows of `access` for it.
CREATE MACRO launch_reads(launch) AS TABLE
FROM access AS a WHERE a.launch = launch AND a.mode = 'read' ORDER BY a.row, a.index, a.page, a.certain DESC;
