-- The smallest UUIDv7 of an instant: turns a time range into an id range. No id is from before 1970.
CREATE OR REPLACE FUNCTION uuid_v7_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(greatest(0, extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
