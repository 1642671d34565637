-- Why a launch met in an entry what another tenancy of the row published: a sentence for each content and generation of
-- launches that did.
CREATE VIEW _other_tenant AS
WITH
    met AS (
        SELECT content, generation FROM _touch WHERE generation <> published_generation
        UNION
        SELECT p.content, p.generation FROM _past_row AS p JOIN row_content AS c USING (content)
        WHERE p.generation <> c.generation
    ),
    tenants AS (
        SELECT
            m.content, m.generation, c.row, c.index, c.seq, n.from_seq, n.until_seq,
            o.from_seq AS other_from_seq, o.until_seq AS other_until_seq,
            coalesce('request ' || n.request || ' (generation ', '(generation ') || m.generation || ')' AS own,
            coalesce('request ' || o.request || ' (generation ', '(generation ') || c.generation || ')' AS other,
            _launch_named(l.launch, l.kernel, s.name) AS publish,
            b.row IS NOT NULL AS shared
        FROM met AS m
        JOIN row_content AS c USING (content)
        LEFT JOIN launch AS l ON c.seq = l.seq
        LEFT JOIN _stream AS s ON l.stream = s.stream
        LEFT JOIN _tenancy AS n ON c.row = n.row AND m.generation = n.generation
        LEFT JOIN _tenancy AS o ON c.row = o.row AND c.generation = o.generation
        LEFT JOIN _two_tenants AS b
            ON c.row = b.row AND m.generation = b.generation AND c.generation = b.other_generation
    )
SELECT
    content, generation,
    -- Two tenants at once; the entry was left before this one had the row; a launch that comes too late; or a publish.
    CASE
        WHEN shared THEN 'both' WHEN seq < from_seq THEN 'left' WHEN seq > until_seq THEN 'used late' ELSE 'published'
    END AS what,
    CASE
        WHEN shared AND from_seq < other_from_seq
            THEN 'Row ' || row || ' was given to ' || other || ' at event ' || other_from_seq || ', while ' || own
                || ' still had it'
        WHEN shared
            THEN 'Row ' || row || ' was given to ' || own || ' at event ' || from_seq || ', while ' || other
                || ' still had it'
        WHEN seq < from_seq THEN 'The entry was left by ' || other || ', which had the row before'
        WHEN seq > until_seq
            THEN upper(own[1]) || own[2:] || ' had given row ' || row || ' back at event ' || until_seq
                || coalesce(', and ' || other || ' has had it since event ' || other_from_seq, '')
        ELSE 'Entry ' || index || ' of row ' || row || ' was published by ' || publish || ' for ' || other
            || coalesce(', which had given the row back at event '
                || CASE WHEN other_until_seq < seq THEN other_until_seq END, '')
    END AS why
FROM tenants;
