import { useInfiniteQuery } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { apiKeysQuery } from '../../api/api-keys.ts'
import { runsQuery } from '../../api/runs.ts'
import { tasksQuery } from '../../api/tasks.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { CreateKey } from './create-key.tsx'
import styles from './first-steps.module.css'
import { SendTest } from './send-test.tsx'
import { Snippets } from './snippets.tsx'

const refreshMs = 5000

/** From an empty workspace to the first delivery. */
export function FirstSteps(): ReactNode {
  const { workspace, to } = useWorkspace()
  const [key, setKey] = useState<string | null>(null)
  const [hasArrived, setHasArrived] = useState(false)
  const mayReadKeys = useRefusal('api_key.read') === null
  const keys = useInfiniteQuery({ ...apiKeysQuery(workspace.id), enabled: mayReadKeys })
  const active = keys.data?.items.filter(({ revoked_at }) => revoked_at === null).length ?? 0
  const tasks = useInfiniteQuery({
    ...tasksQuery(workspace.id, { source: 'task', limit: 1 }),
    refetchInterval: refreshMs,
  })
  const runs = useInfiniteQuery(runsQuery(workspace.id, { status: 'success', limit: 1 }))
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
          <CreateKey workspaceId={workspace.id} secret={key} active={active} onKey={setKey} />
        </Step>
        <Step number={2} title="Schedule a task from your code" isDone={(tasks.data?.items.length ?? 0) > 0}>
          <Snippets apiKey={key} />
        </Step>
        <Step number={3} title="Send a test and watch it arrive" isDone={isDelivered}>
          <SendTest onArrived={() => setHasArrived(true)} />
        </Step>
      </ol>
    </>
  )
}

type StepProps = { number: number; title: string; isDone: boolean; children: ReactNode }

function Step({ number, title, isDone, children }: StepProps): ReactNode {
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
