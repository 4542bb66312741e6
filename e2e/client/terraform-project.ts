import { execFile, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryRoot } from '../repository-root.ts'

/** The folder of the provider. */
export const providerFolder = join(repositoryRoot(), 'clients/terraform')

export type Ended = { code: number; out: string; error: string }

/** Runs a program to its end. */
export function run(program: string, args: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }) {
  return new Promise<Ended>(resolve => {
    execFile(program, args, { maxBuffer: 2 ** 26, ...options }, (error, out, text) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, out, error: error !== null && typeof error.code !== 'number' ? String(error) : text })
    })
  })
}

const answers = (program: string, ...args: string[]) => spawnSync(program, args).status === 0

/** Whether the provider can be compiled here. */
export const hasGo = answers('go', 'version')

/** Terraform, or OpenTofu; null when neither is installed. */
export const terraform = ['terraform', 'tofu'].find(program => answers(program, 'version')) ?? null

/** A planned change: its address, and what Terraform would do, such as `update`, or `delete, create`. */
export type PlannedChange = [address: string, actions: string]

export type Project = {
  folder: string
  /** Runs a command such as `apply`, and returns how it ended. */
  terraform(...args: string[]): Promise<Ended>
  /** Writes the configuration. */
  write(text: string): Promise<void>
  /** Applies the configuration. Throws unless it succeeds. */
  apply(...args: string[]): Promise<string>
  /** Returns what the configuration would change, sorted by address. */
  plan(): Promise<PlannedChange[]>
  /** Returns the errors of a plan or an apply, each with the line of the configuration that it is about. */
  errors(command: 'plan' | 'apply'): Promise<Array<{ summary: string; detail: string; line: string | null }>>
}

/** Makes a folder whose configuration uses the provider below `bin`. `env` has the installation and the variables. */
export async function openProject(bin: string, env: Record<string, string>): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-terraform-'))
  const settings = join(folder, 'terraform.rc')
  const overrides = `"registry.terraform.io/belfry/belfry" = "${bin}"\n"registry.opentofu.org/belfry/belfry" = "${bin}"`
  await writeFile(settings, `provider_installation {\ndev_overrides {\n${overrides}\n}\ndirect {}\n}\n`)
  await mkdir(join(folder, 'project'))
  const cwd = join(folder, 'project')
  const all = { PATH: process.env.PATH, HOME: folder, TF_CLI_CONFIG_FILE: settings, CHECKPOINT_DISABLE: '1', ...env }
  const command = (...args: string[]) => run(terraform ?? '', args, { cwd, env: all })
  const mustSucceed = async (...args: string[]) => {
    const { code, out, error } = await command(...args)
    if (code !== 0) throw new Error(`terraform ${args.join(' ')} failed:\n${out}${error}`)
    return out
  }
  return {
    folder,
    terraform: command,
    write: text => writeFile(join(cwd, 'main.tf'), text),
    apply: (...args) => mustSucceed('apply', '-auto-approve', '-input=false', '-no-color', ...args),
    async plan() {
      await mustSucceed('plan', '-input=false', '-no-color', '-out', 'planned')
      const { resource_changes = [] } = JSON.parse(await mustSucceed('show', '-json', 'planned'))
      const changes = resource_changes as Array<{ address: string; change: { actions: string[] } }>
      return changes
        .map(({ address, change }): PlannedChange => [address, change.actions.join(', ')])
        .filter(([address, actions]) => actions !== 'no-op' && !address.startsWith('data.'))
        .sort()
    },
    async errors(name) {
      const args = name === 'apply' ? ['apply', '-auto-approve'] : ['plan']
      const { out } = await command(...args, '-input=false', '-json')
      const diagnostics = out
        .split('\n')
        .flatMap(line => (line === '' ? [] : [JSON.parse(line).diagnostic ?? []].flat()))
      return diagnostics
        .filter(({ severity }) => severity === 'error')
        .map(({ summary, detail, snippet }) => ({ summary, detail, line: snippet?.code.trim() ?? null }))
    },
  }
}
