-- The kinds of events that there are.
CREATE TABLE _seen AS SELECT DISTINCT kind FROM event;
