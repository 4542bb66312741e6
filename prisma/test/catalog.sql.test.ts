import { expect, it } from 'vitest'
import type { Pool } from '../src/postgres/pool.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()

it('a migrated database has the catalog of schema.snapshot.sql', async () => {
  await expect(await describeCatalog(db.pool)).toMatchFileSnapshot('../schema.snapshot.sql')
})

// Each query returns the lines of one part, for the objects of the schemas `public` and `run_partitions`. The partitions of
// months are left out, because they change with the calendar.
const own = (oid: string) => `${oid}::regnamespace::text IN ('public', 'run_partitions')`
const relation = `c.relname !~ '^runs_\\d' AND ${own('c.relnamespace')}`

const parts: Record<string, string> = {
  schemas: `
    SELECT format('CREATE SCHEMA %I;', nspname) || grants AS text
    FROM pg_namespace n, LATERAL (${grantsOn('n.nspacl', "'SCHEMA ' || n.oid::regnamespace")}) g
    WHERE ${own('n.oid')} ORDER BY 1`,
  types: `
    SELECT format('CREATE TYPE %s AS ENUM (%s);', t.oid::regtype,
                  string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder)) AS text
    FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid WHERE ${own('t.typnamespace')} GROUP BY t.oid ORDER BY 1`,
  sequences: `
    SELECT format('CREATE SEQUENCE %s;', c.oid::regclass) AS text FROM pg_class c
    WHERE c.relkind = 'S' AND ${relation} ORDER BY 1`,
  tables: `
    SELECT concat_ws(E'\\n',
      format(E'CREATE %sTABLE %s (\\n%s\\n)%s%s;', CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' END, c.oid::regclass,
        columns, E'\\nPARTITION BY ' || pg_get_partkeydef(c.oid),
        ' WITH (' || array_to_string(c.reloptions, ', ') || ')'),
      (SELECT format('ALTER TABLE %s ATTACH PARTITION %s %s;', inhparent::regclass, c.oid::regclass,
                     pg_get_expr(c.relpartbound, c.oid))
       FROM pg_inherits WHERE inhrelid = c.oid),
      (SELECT string_agg(pg_get_indexdef(indexrelid) || CASE WHEN indisvalid THEN ';' ELSE '; -- invalid' END, E'\\n'
                         ORDER BY indexrelid::regclass::text)
       FROM pg_index WHERE indrelid = c.oid),
      (SELECT string_agg(pg_get_triggerdef(oid) || ';', E'\\n' ORDER BY tgname)
       FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal),
      (SELECT string_agg(format('ALTER TABLE %s ALTER %I SET STATISTICS %s;', attrelid::regclass, attname, attstattarget),
                         E'\\n' ORDER BY attnum)
       FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND attstattarget >= 0),
      CASE WHEN c.relrowsecurity THEN format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY;', c.oid::regclass) END,
      (SELECT string_agg(format('CREATE POLICY %I ON %s FOR %s TO %s USING (%s) WITH CHECK (%s);', polname, c.oid::regclass,
                                polcmd, polroles::regrole[], pg_get_expr(polqual, c.oid), pg_get_expr(polwithcheck, c.oid)),
                         E'\\n' ORDER BY polname)
       FROM pg_policy WHERE polrelid = c.oid),
      'ALTER TABLE ' || c.oid::regclass || ' OWNER TO ' || nullif(c.relowner, d.datdba)::regrole || ';') || grants AS text
    FROM pg_class c JOIN pg_database d ON d.datname = current_database(),
      LATERAL (${grantsOn('c.relacl', 'c.oid::regclass', 'c.oid')}) g,
      LATERAL (
        SELECT string_agg(line, E',\\n' ORDER BY place, name) AS columns FROM (
          SELECT attnum AS place, attname AS name,
                 format('  %I %s', attname, format_type(atttypid, atttypmod))
                 || CASE WHEN attcollation <> typcollation THEN ' COLLATE ' || attcollation::regcollation ELSE '' END
                 || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
                 || CASE attgenerated WHEN '' THEN coalesce(' DEFAULT ' || pg_get_expr(adbin, adrelid), '')
                                      ELSE ' GENERATED ALWAYS AS (' || pg_get_expr(adbin, adrelid) || ')' END
                 || CASE WHEN attstorage <> typstorage THEN ' STORAGE ' || attstorage::text ELSE '' END AS line
          FROM pg_attribute a JOIN pg_type ON pg_type.oid = atttypid
          LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
          WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
          UNION ALL
          SELECT 10000, conname, format('  CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint
          WHERE conrelid = c.oid AND contype NOT IN ('n', 't')
        ) lines
      ) l
    WHERE c.relkind IN ('r', 'p') AND ${relation} ORDER BY c.oid::regclass::text`,
  views: `
    SELECT format(E'CREATE VIEW %s AS\\n%s', c.oid::regclass, pg_get_viewdef(c.oid, true)) || grants AS text
    FROM pg_class c, LATERAL (${grantsOn('c.relacl', 'c.oid::regclass', 'c.oid')}) g
    WHERE c.relkind IN ('v', 'm') AND ${relation} ORDER BY 1`,
  functions: `
    SELECT rtrim(pg_get_functiondef(p.oid), E'\\n') || ';' || grants AS text
    FROM pg_proc p, LATERAL (${grantsOn('p.proacl', "'FUNCTION ' || p.oid::regprocedure")}) g
    WHERE ${own('p.pronamespace')} ORDER BY p.oid::regprocedure::text`,
  comments: `
    SELECT format('COMMENT ON %s IS %L;', pg_describe_object(classoid, objoid, objsubid), description) AS text
    FROM pg_description JOIN pg_class c ON c.oid = objoid WHERE ${own('c.relnamespace')} ORDER BY 1`,
}

// One GRANT for each role, without what the owner has. The rights on columns follow those on the table.
function grantsOn(acl: string, object: string, table = 'NULL'): string {
  return `
    SELECT coalesce(string_agg(E'\\n' || format('GRANT %s ON %s TO %s;', rights, ${object}, role), '' ORDER BY role, place), '') AS grants
    FROM (
      SELECT 0 AS place, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS role,
             string_agg(privilege_type, ', ' ORDER BY privilege_type) AS rights
      FROM aclexplode(${acl}) WHERE grantee <> grantor GROUP BY grantee
      UNION ALL
      SELECT attnum, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
             format('%s (%I)', string_agg(privilege_type, ', ' ORDER BY privilege_type), attname)
      FROM pg_attribute, aclexplode(attacl) WHERE attrelid = ${table} GROUP BY attnum, attname, grantee
    ) granted`
}

async function describeCatalog(pool: Pool): Promise<string> {
  const texts: string[] = []
  for (const [title, query] of Object.entries(parts)) {
    const { rows } = await pool.query<{ text: string }>(query)
    texts.push(`-- ${title}: ${rows.length}`, ...rows.map(({ text }) => text))
  }
  return `${[...texts, `-- rows\n${await describeRows(pool)}`].join('\n\n')}\n`
}

// The rows that the migrations insert, without their times.
async function describeRows(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c
     WHERE c.relkind = 'r' AND c.relname NOT IN ('_prisma_migrations', 'sql_definitions') AND ${relation} ORDER BY 1`,
  )
  const lines: string[] = []
  for (const { name } of rows) {
    const found = await pool.query(`SELECT to_jsonb(t) AS row FROM ${name} t ORDER BY 1`)
    for (const { row } of found.rows) {
      lines.push(
        `${name}: ${JSON.stringify(row, (_key, value) => (/^\d{4}-\d\d-\d\dT/.test(value) ? 'a time' : value))}`,
      )
    }
  }
  return lines.join('\n')
}
