-- Header values as lists.
CREATE OR REPLACE FUNCTION qstash_header(headers json) RETURNS json LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(json_object_agg(key, CASE json_typeof(value) WHEN 'array' THEN value ELSE json_build_array(value) END), '{}')
  FROM json_each(headers)
$$;
