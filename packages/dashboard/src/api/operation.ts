import { call } from './call.ts'

// The names in a path begin with a colon.
type Parts<Path> = Path extends `${string}:${string}/${infer Rest}`
  ? [string, ...Parts<Rest>]
  : Path extends `${string}:${string}`
    ? [string]
    : []

type Workspace<Path> = Path extends `/api/v1/scheduler/${string}` ? [workspaceId: string] : []

type Args<Path, Body> = [...Workspace<Path>, ...Parts<Path>, ...([Body] extends [undefined] ? [] : [body: Body])]

/** Calls an operation with the workspace of a scheduler path, the parts of the path in their order, and the body. */
type Operation<Path> = <Result = void, Body = undefined>(...args: Args<Path, Body>) => Promise<Result>

export const post = <Path extends string>(path: Path) => operation('POST', path)
export const put = <Path extends string>(path: Path) => operation('PUT', path)
export const patch = <Path extends string>(path: Path) => operation('PATCH', path)
export const remove = <Path extends string>(path: Path) => operation('DELETE', path)

function operation<Path extends string>(method: string, path: Path): Operation<Path> {
  return (...args) => {
    const left: unknown[] = [...args]
    const workspaceId = path.startsWith('/api/v1/scheduler/') ? String(left.shift()) : undefined
    const filled = path.replace(/:\w+/g, () => encodeURIComponent(String(left.shift())))
    return call(method, filled, { workspaceId, body: left[0] })
  }
}
