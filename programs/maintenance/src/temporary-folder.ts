import { mkdtemp, rm } from 'node:fs/promises'

/** Runs `use` on a new folder and removes it afterwards. The path of the folder begins with the prefix. */
export async function inTemporaryFolder<T>(prefix: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(prefix)
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
