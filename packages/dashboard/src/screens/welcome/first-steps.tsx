import type { Run } from '@belfry/contract/run'
import type { Workspace } from '@belfry/contract/workspace'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useBlocker } from 'react-router'
import { call } from '../../api/call.ts'
import { pagesOf } from '../../api/queries.ts'
import { followLog } from '../../api/runs.ts'
import { Form } from '../../forms/form.tsx'
import { isKeyOver } from '../../layout/is-key-over.ts'
import { SaveKey } from '../../layout/save-key.tsx'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { StateBadge } from '../../ui/state-badge.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './first-steps.module.css'

const refreshMs = 5000

export function FirstSteps() {
  const { workspace, to } = useWorkspace()
  const [key, setKey] = useState<string | null>(null)
  const [hasArrived, setHasArrived] = useState(false)
  const mayReadKeys = useRefusal('api_key.read') === null
  const keys = useInfiniteQuery({ ...pagesOf('listApiKeys', { ws: workspace.id }), enabled: mayReadKeys })
  const active = keys.data?.items.filter(key => !isKeyOver(key)).length ?? 0
  const tasks = useInfiniteQuery({
    ...pagesOf('listTasks', { ws: workspace.id, query: { source: 'task', limit: 1 } }),
    refetchInterval: refreshMs,
  })
  const runs = useInfiniteQuery(pagesOf('listRuns', { ws: workspace.id, query: { status: 'success', limit: 1 } }))
  const isDelivered = hasArrived || (runs.data?.items.length ?? 0) > 0
  return (
    <>
      <PageHeader
        title="First steps"
        description={`Three steps to your first webhook from ${workspace.name}.`}
        actions={<ButtonLink to={to.overview()}>{isDelivered ? 'Go to overview' : 'Skip'}</ButtonLink>}
      />
      <ol className={styles.steps}>
        <Step number={1} title="Create an API key" isDone={key !== null || active > 0}>
          <CreateKey secret={key} active={active} onKey={setKey} />
        </Step>
        <Step number={2} title="Schedule a task from your code" isDone={(tasks.data?.items.length ?? 0) > 0}>
          <Snippets apiKey={key} />
        </Step>
        <Step number={3} title="Send a test and watch it arrive" isDone={isDelivered}>
          <SendTest onArrived={setHasArrived} />
        </Step>
      </ol>
    </>
  )
}

type StepProps = { number: number; title: string; isDone: boolean; children: ReactNode }

function Step({ number, title, isDone, children }: StepProps) {
  return (
    <li className={styles.step}>
      <span className={classNames(styles.number, isDone && styles.done)}>
        {isDone ? <Check size={15} strokeWidth={3} aria-label="Done" /> : number}
      </span>
      <div>
        <h2>{title}</h2>
        {children}
      </div>
    </li>
  )
}

type CreateKeyProps = { secret: string | null; active: number; onKey(key: string): void }

function CreateKey({ secret, active, onKey }: CreateKeyProps) {
  const refusal = useRefusal('api_key.create')
  const { workspace } = useWorkspace()
  const [isAdding, setIsAdding] = useState(false)
  const [isSaved, setIsSaved] = useState(false)
  if (refusal) return <p className={styles.hint}>{refusal} Ask an owner or admin for a key.</p>
  if (secret) {
    return (
      <>
        <p className={styles.hint}>Copy the key now and store it safely. You can see it only this once.</p>
        <CodeBlock text={secret} label="API key" isWrapped onCopied={() => setIsSaved(true)} />
        <SaveKey apiKey={secret} onSaved={() => setIsSaved(true)} />
        {!isSaved && <LeaveGuard />}
      </>
    )
  }
  if (active > 0 && !isAdding) {
    return (
      <>
        <p className={styles.hint}>
          {workspace.name} has {active === 1 ? 'an API key' : `${active} API keys`}.
        </p>
        <Button onClick={() => setIsAdding(true)}>Create another key</Button>
      </>
    )
  }
  return (
    <Form
      read={field => ({ name: field('name').trim() })}
      check={body => ({ name: body.name === '' && 'Enter a name.' })}
      submit={body => call('createApiKey', { ws: workspace.id, body })}
      onDone={({ key }) => onKey(key)}
      action="Create key"
    >
      <TextField
        label="Key name"
        hint="Name the app or server that will use it."
        name="name"
        defaultValue="My server"
      />
    </Form>
  )
}

function LeaveGuard() {
  const blocker = useBlocker(({ currentLocation, nextLocation }) => currentLocation.pathname !== nextLocation.pathname)
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  return (
    <ConfirmDialog
      isOpen={blocker.state === 'blocked'}
      onClose={() => blocker.reset?.()}
      title="Leave without the key?"
      description="You have not copied or downloaded it, and it is not shown again. You can create another key at any time."
      action="Leave"
      onConfirm={() => blocker.proceed?.()}
    />
  )
}

const columns: ReadonlyArray<Column<Run>> = [
  { header: 'Task', cell: run => run.task_name },
  { header: 'Status', cell: run => <StateBadge state={run.status} /> },
  { header: 'Response', cell: run => run.response_status ?? run.error?.message ?? '–' },
  { header: 'Duration', align: 'end', isExtra: true, cell: run => formatDuration(run.duration_ms) },
  { header: 'Started', align: 'end', isExtra: true, cell: run => <RelativeTime at={run.started_at} /> },
]

/** Publishes an event to a target of the user, and shows the runs as they happen. */
function SendTest({ onArrived }: { onArrived: (hasArrived: true) => void }) {
  const { workspace, to } = useWorkspace()
  const [isSent, setIsSent] = useState(false)
  const suggested = suggestedTarget()
  const runs = useLiveRuns(workspace, onArrived)
  return (
    <>
      <Form
        read={field => ({ target_url: field('target_url').trim() })}
        check={body => ({
          target_url: !/^https?:\/\/./.test(body.target_url) && 'Enter an http:// or https:// URL.',
        })}
        submit={target =>
          call('publishEvent', { ws: workspace.id, body: { topic: 'test', payload: { hello: 'world' }, ...target } })
        }
        onDone={() => setIsSent(true)}
        action={isSent ? 'Send another' : 'Send a test'}
      >
        <TextField
          label="Target URL"
          hint={
            suggested === '' ? (
              'Any URL of yours that accepts POST requests.'
            ) : (
              <>
                The suggested URL is the receiver of <code>npm start</code>. Any URL that accepts POST requests works.
              </>
            )
          }
          name="target_url"
          type="url"
          isMono
          defaultValue={suggested}
          placeholder="https://example.com/hooks/hello"
        />
      </Form>
      <div aria-live="polite">
        {runs.length === 0 && (
          <p className={styles.live}>{isSent ? 'Sending…' : 'Runs of this workspace appear here as they happen.'}</p>
        )}
        {runs.length > 0 && (
          <Table label="Live runs" columns={columns} rows={runs} rowLink={run => to.run(run.id)} isFresh={() => true} />
        )}
      </div>
    </>
  )
}

function useLiveRuns({ id: ws, organization_id: org }: Workspace, onArrived: (hasArrived: true) => void): Run[] {
  const [runs, setRuns] = useState<Run[]>([])
  useEffect(() => {
    const closed = new AbortController()
    const onRun = (run: Run) => {
      setRuns(before => [run, ...before.filter(({ id }) => id !== run.id)].slice(0, 10))
      if (run.status === 'success') onArrived(true)
    }
    // If the API rejects the stream, the list stays empty. The log still has the run.
    followLog({ org, ws }, { onRun }, closed.signal).catch(() => {})
    return () => closed.abort()
  }, [org, ws, onArrived])
  return runs
}

function Snippets({ apiKey }: { apiKey: string | null }) {
  const { origin } = window.location
  const key = apiKey ?? 'bf_your_key'
  const target = suggestedTarget() || 'https://example.com/hooks/hello'
  const at = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 3_600_000).toISOString()
  const curl = [
    `curl -X POST ${origin}/api/v1/scheduler/tasks \\`,
    `  -H 'X-Api-Key: ${key}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"name":"Hello","url":"${target}","method":"POST","payload":{"hello":"world"},"execute_at":"${at}"}'`,
  ].join('\n')
  const client = [
    "import { Belfry } from '@belfry/client'",
    '',
    `const belfry = new Belfry({ apiKey: '${key}', baseUrl: '${origin}' })`,
    '',
    'await belfry.tasks.create({',
    "  name: 'Hello',",
    `  targetUrl: '${target}',`,
    "  method: 'post',",
    '  payload: \'{"hello":"world"}\',',
    '  executeAt: new Date(Date.now() + 60_000),',
    '})',
  ].join('\n')
  return (
    <Tabs
      label="Ways to create a task"
      tabs={[
        { id: 'curl', label: 'curl', content: <CodeBlock text={curl} label="curl command" /> },
        { id: 'client', label: 'TypeScript', content: <CodeBlock text={client} label="client example" /> },
      ]}
    />
  )
}

/** Returns the URL of the receiver that `npm start` runs, on the port after its own; empty elsewhere. */
function suggestedTarget(): string {
  const { hostname, port } = window.location
  const isLocalStart = (hostname === 'localhost' || hostname === '127.0.0.1') && port !== ''
  return isLocalStart ? `http://127.0.0.1:${Number(port) + 1}/hello` : ''
}
