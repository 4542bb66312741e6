-- A UUIDv7 (RFC 9562) that carries the given instant. PostgreSQL has its own only from version 18 on. A
-- random UUID has version 4, whose version nibble 0100 becomes 0111 by setting two bits of byte 6.
CREATE OR REPLACE FUNCTION uuid_v7(at timestamptz, random uuid DEFAULT gen_random_uuid()) RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT encode(set_bit(set_bit(
    overlay(uuid_send(random) PLACING substring(int8send((extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
    52, 1), 53, 1), 'hex')::uuid
$$;
