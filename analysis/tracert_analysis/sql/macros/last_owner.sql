-- Who a page was granted to last, and who held it last: at the end, or `before` an event. One row; at the end from the
-- last facts of the page where the history doesn't reach back to its grant.
-- * page: The page.
-- * life: Its last life.
-- * owner: Who that life was granted to; null when the grant lies before the history.
-- * holder: Who held it last, and holds it while `until_seq` is null.
-- * mode: What the holder may do: read or write; null when only the last facts are known.
-- * from_seq: Event since which it is held so; the keyframe that knew it where `source` is keyframe.
-- * until_seq: Event that gave it back; null while it is held, or when that came only after the event.
-- * source: history; keyframe where it was held before the history already; page_state where only the last facts are
--   known: then `holder` is who took it last, and `from_seq` the grant of the life.
CREATE MACRO last_owner(page, before := NULL) AS TABLE
SELECT
    o._page AS page, o._life AS life, o._owner AS owner, o._holder AS holder, o._mode AS mode, o._from_seq AS from_seq,
    o._until_seq AS until_seq, o._source AS source
FROM (
    SELECT * FROM (
        SELECT l.page AS _page, l.life AS _life, l.owner AS _owner, l.holder AS _holder, l.mode AS _mode,
            l.from_seq AS _from_seq, l.until_seq AS _until_seq, l.source AS _source
        FROM _last_owners(before) AS l
    ) AS _l WHERE _l._page = page
) AS o;
