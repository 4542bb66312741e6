import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { type RunningProcess, startProcess } from '@belfry/test-support/servers'
import type { Image } from './read-dockerfile.ts'
import { hasTool } from './tools.ts'

/** A container of the all-in-one image without DATABASE_URL. */
export type DataContainer = Pick<RunningProcess, 'output' | 'prints' | 'ended'> & {
  stop(): Promise<number | string>
  /** Ends every process in it at once, like the loss of the machine. */
  kill(): Promise<unknown>
  /** Returns the exit code and the output of a command, as `docker exec` would run it. */
  exec(command: readonly string[]): Promise<{ code: number; output: string }>
  /** Returns the processes in it, as seen from inside. */
  processes(): Promise<InnerProcess[]>
}

type InnerProcess = { pid: number; uid: number; state: string; command: string }

/**
 * Whether a container is a process with its own root, read-only except for the volume, and its own process ids. Without
 * root's privileges it is only a process with the environment of the image.
 */
export const isIsolated = process.getuid?.() === 0 && hasTool('tini', ['--version'])

// Everything that the base image has outside /app, without its writable folders.
const root = `
set -e
mount -t tmpfs tmpfs /mnt
cd /mnt
mkdir usr etc proc dev app data tmp
for name in bin sbin lib lib64; do ln -s usr/$name $name; done
echo 'node:x:1000:1000::/home/node:/bin/sh' > etc/passwd
echo 'node:x:1000:' > etc/group
echo '127.0.0.1 localhost' > etc/hosts
mount --rbind /usr usr
mount --rbind /dev dev
mount -t proc proc proc
mount --bind "$0" app
if [ -n "$1" ]; then mount --bind "$1" data; fi
mount -o remount,ro /mnt
shift
exec env --ignore-environment PATH=/usr/local/bin:/usr/bin:/bin /usr/sbin/chroot /mnt setpriv --reuid 1000 --regid 1000 \\
  --clear-groups --inh-caps=-all --no-new-privs env --chdir=/app "$@"
`

/** Starts a container on the files of the image and a volume; null for none. */
export function runContainer(
  image: Image,
  tree: string,
  volume: string | null,
  env: Record<string, string>,
): DataContainer {
  const all = { ...image.env, ...env }
  const running = isIsolated ? startIsolated(image, tree, volume, all) : startPlain(image, tree, volume, all)
  const first = () => (isIsolated ? Number(children(running.pid)[0]) : running.pid)
  return Object.assign(running, {
    stop() {
      process.kill(first(), 'SIGTERM')
      return running.ended
    },
    kill() {
      if (running.isRunning()) process.kill(first(), 'SIGKILL')
      return running.ended
    },
    async exec(command: readonly string[]) {
      const enter = ['nsenter', `--target=${first()}`, '--mount', '--pid', '--root']
      const drop = ['setpriv', '--reuid', '1000', '--regid', '1000', '--clear-groups']
      const variables = [
        'env',
        '--ignore-environment',
        '--chdir=/app',
        ...Object.entries(all).map(([name, value]) => `${name}=${value}`),
      ]
      const inner = ['PATH=/usr/local/bin:/usr/bin:/bin', ...command]
      const [program = '', ...args] = isIsolated ? [...enter, ...drop, ...variables, ...inner] : [...command]
      const data = isIsolated ? {} : { cwd: tree, env: { ...all, PATH: process.env.PATH, DATA_DIR: volume ?? '' } }
      return promisify(execFile)(program, args, data).then(
        ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
        error => ({ code: error.code, output: error.stdout + error.stderr }),
      )
    },
    async processes() {
      const listing = await this.exec(['sh', '-c', "cd /proc && for pid in [0-9]*; do grep -H '' $pid/status; done"])
      return readProcesses(listing.output)
    },
  })
}

function startIsolated(image: Image, tree: string, volume: string | null, env: Record<string, string>): RunningProcess {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const namespaces = ['--mount', '--pid', '--ipc', '--fork', '--kill-child', '--propagation=private']
  const command = ['sh', '-c', root, tree, volume ?? '', ...variables, ...image.command]
  return startProcess(['unshare', ...namespaces, ...command])
}

function startPlain(image: Image, tree: string, volume: string | null, env: Record<string, string>): RunningProcess {
  const args = image.command.slice(image.command.indexOf('node') + 1)
  const own = { ...env, PATH: process.env.PATH, ...(volume && { DATA_DIR: volume }) }
  return startProcess([process.execPath, ...args], { cwd: tree, env: own })
}

function children(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
}

function readProcesses(listing: string): InnerProcess[] {
  const found = new Map<number, Record<string, string>>()
  for (const [, pid, name = '', value = ''] of listing.matchAll(/^(\d+)\/status:(\w+):\s*(.*)$/gm))
    found.set(Number(pid), { ...found.get(Number(pid)), [name]: value })
  return [...found].map(([pid, { Uid = '', State = '', Name: command = '' }]) => ({
    pid,
    uid: Number.parseInt(Uid, 10),
    state: State.slice(0, 1),
    command,
  }))
}
