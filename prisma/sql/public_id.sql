-- The public form of an id, as `toId` in packages/domain writes it.
CREATE OR REPLACE FUNCTION public_id(kind text, id uuid) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT kind || '_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits FROM i * 5 + 1 FOR 5)::integer + 1, 1), '' ORDER BY i)
  FROM (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128) AS bits) given, generate_series(0, 25) AS i
$$;
