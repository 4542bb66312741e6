import { readFile } from 'node:fs/promises'

/** Returns the statements that create the outbox. The file is beside `src` and `dist`. */
export function readOutboxSql(): Promise<string> {
  return readFile(new URL('../outbox.sql', import.meta.url), 'utf8')
}
