-- Where the trace of the request that made a task goes on (W3C Trace Context); null when it had none.
ALTER TABLE task_requests ADD COLUMN traceparent text;
