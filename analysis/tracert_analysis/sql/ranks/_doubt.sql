-- Why it is not certain that these are the ranks of one engine; no row where it is.
CREATE TABLE _doubt (why VARCHAR);
