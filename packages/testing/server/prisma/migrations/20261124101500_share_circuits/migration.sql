-- Until when the dispatcher of the row alone may probe the host.
ALTER TABLE resting_hosts ADD COLUMN probing_until timestamptz(3);
