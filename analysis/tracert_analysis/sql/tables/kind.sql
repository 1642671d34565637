-- The kinds of lines in a dump: what an event may be, and the lines around the events.
CREATE TYPE kind AS ENUM (
    'header', 'stream_state', 'page_state', 'lane_state', 'end',
    'alloc', 'hold', 'drop', 'retire', 'free',
    'keyframe', 'keyframe_row', 'keyframe_end',
    'row_acquire', 'row_release', 'map', 'unmap', 'stage', 'publish',
    'launch', 'copy', 'clear', 'copy_plan', 'copy_done', 'host_write', 'external_begin', 'external_done',
    'fence_record', 'fence_wait', 'fence_passed',
    'insert', 'evict', 'match',
    'snapshot_save', 'snapshot_restore', 'snapshot_alias', 'snapshot_release',
    'offload', 'load', 'workspace_plan', 'workspace_alloc', 'workspace_free',
    'arrive', 'schedule', 'preempt', 'finish', 'fail', 'transaction',
    'propose', 'verify', 'guard', 'nonfinite', 'error'
);
