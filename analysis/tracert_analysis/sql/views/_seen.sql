-- The kinds of events that there are.
CREATE TABLE _seen AS
SELECT kind FROM _told_page UNION SELECT kind FROM _told_fence UNION SELECT kind FROM _told_launch
UNION SELECT kind FROM _told_step UNION SELECT kind FROM _told_workspace UNION SELECT kind FROM _told_rest;
