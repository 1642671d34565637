-- A stream's name as it would stand in a program.
CREATE MACRO _variable(stream_name) AS regexp_replace(stream_name, '[^A-Za-z0-9_]', '_', 'g');
