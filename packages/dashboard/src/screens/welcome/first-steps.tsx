import { Check } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useWorkspace } from '../../session/scope.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { CreateKey } from './create-key.tsx'
import styles from './first-steps.module.css'
import { SendTest } from './send-test.tsx'
import { Snippets } from './snippets.tsx'

/** From an empty workspace to the first dispatch. */
export function FirstSteps(): ReactNode {
  const { workspace, to } = useWorkspace()
  const [key, setKey] = useState<string | null>(null)
  const [hasArrived, setHasArrived] = useState(false)
  return (
    <>
      <PageHeader
        title="First steps"
        description={`Three steps to your first webhook from ${workspace.name}.`}
        actions={<ButtonLink to={to.overview()}>{hasArrived ? 'Go to overview' : 'Skip'}</ButtonLink>}
      />
      <ol className={styles.steps}>
        <Step number={1} title="Create an API key" isDone={key !== null}>
          <CreateKey workspaceId={workspace.id} secret={key} onKey={setKey} />
        </Step>
        <Step number={2} title="Schedule a task from your code" isDone={false}>
          <Snippets apiKey={key} />
        </Step>
        <Step number={3} title="Send a test and watch it arrive" isDone={hasArrived}>
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
