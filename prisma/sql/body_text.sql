-- The text of a body, or null when it is not UTF-8. A truncated body may end within a character, so up to
-- three of its bytes may be missing.
CREATE OR REPLACE FUNCTION body_text(body bytea, is_truncated boolean) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  FOR missing IN 0 .. CASE WHEN is_truncated THEN least(3, octet_length(body)) ELSE 0 END LOOP
    BEGIN
      RETURN convert_from(substring(body FROM 1 FOR octet_length(body) - missing), 'UTF8');
    EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
      NULL;
    END;
  END LOOP;
  RETURN NULL;
END
$$;
