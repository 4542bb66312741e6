import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Fields } from '../configuration/kinds.ts'
import type { Context } from '../context.ts'
import { readInput } from '../read-input.ts'
import { UsageError } from '../usage-error.ts'
import { type Entry, requestFields, type SourceFlags, toEntry } from './entry.ts'

type Repository = { repo: string; ref: string }

/** Reads the scheduled workflows of a repository on this machine. */
export async function readGithubActions(
  ctx: Context,
  folder: string,
  { repo, ref = 'main' }: SourceFlags,
): Promise<Entry[]> {
  if (!repo || !/^[\w.-]+\/[\w.-]+$/.test(repo)) throw new UsageError('Give the repository: --repo owner/name')
  const workflows = join(folder, '.github/workflows')
  const files = await readdir(workflows).catch((error: Error) => {
    throw new UsageError(`${workflows} cannot be read: ${error.message}`)
  })
  const entries: Entry[] = []
  for (const file of files.filter(name => /\.ya?ml$/.test(name)).sort()) {
    entries.push(...readWorkflow(file, await readInput(ctx, join(workflows, file)), { repo, ref }))
  }
  return entries
}

function readWorkflow(file: string, text: string, repository: Repository): Entry[] {
  let workflow: Fields
  try {
    workflow = Object(parse(text))
  } catch (error) {
    return [{ place: file, refusal: `It is not YAML: ${String(error).split('\n', 1)}` }]
  }
  const on: Fields = Object(workflow.on)
  const schedules = [on.schedule ?? []].flat().map(Object) as Fields[]
  return schedules.map(({ cron, timezone = 'UTC' }, i) => {
    const place = schedules.length === 1 ? file : `${file}, schedule ${i + 1}`
    const missing = findMissing(on)
    return toEntry(place, () => ({
      job: {
        ...requestFields(dispatchOf(file, repository)),
        name: `${repository.repo} ${workflow.name ?? file}`.slice(0, 200),
        cron: String(cron),
        timezone: String(timezone),
      },
      // GitHub would answer 422.
      isPaused: missing.length > 0,
      notes: [
        ...missing,
        ...(/github\.event\.schedule|event_name\s*[!=]=\s*'schedule'/.test(text)
          ? ['it asks for the event schedule, which becomes workflow_dispatch']
          : []),
      ],
    }))
  })
}

function dispatchOf(file: string, { repo, ref }: Repository) {
  return {
    url: `https://api.github.com/repos/${repo}/actions/workflows/${file}/dispatches`,
    method: 'POST',
    headers: {
      Accept: 'application/vnd.github+json',
      Authorization: 'Bearer {{ secrets.GITHUB_TOKEN }}',
      'X-GitHub-Api-Version': '2022-11-28',
    },
    body: JSON.stringify({ ref }),
  }
}

/** Returns what a workflow lacks to be started by a call. */
function findMissing(on: Fields): string[] {
  if (!('workflow_dispatch' in on)) return ['add workflow_dispatch to its "on", then resume the cron job']
  const inputs = Object.entries<Fields>(Object(Object(on.workflow_dispatch).inputs))
  const needed = inputs.filter(([, input]) => Object(input).required === true && Object(input).default === undefined)
  return needed.map(
    ([name]) => `its workflow_dispatch requires the input ${name}: add inputs to the payload, then resume`,
  )
}
