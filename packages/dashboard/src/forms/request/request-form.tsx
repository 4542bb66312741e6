import { type ReactNode, useState } from 'react'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Card, Stack } from '../../ui/card.tsx'
import { latePart } from '../../ui/late-part.tsx'
import { FormFrame } from '../form.tsx'
import type { DraftForm } from '../use-draft-form.ts'
import { CallbackFields } from './flow-fields.tsx'
import { FoldedCard } from './folded-fields.tsx'
import styles from './request.module.css'
import type { RequestDraft } from './request-draft.ts'
import { RequestFields } from './request-fields.tsx'
import type { RequestFacts } from './request-text.ts'
import { RetryFields, retrySummary } from './retry-fields.tsx'

const RequestPreview = latePart(async () => (await import('./request-preview.tsx')).RequestPreview)
const MissingSecrets = latePart(async () => (await import('./missing-secrets.tsx')).MissingSecrets)

type RequestFormProps = {
  state: DraftForm<RequestDraft>
  action: string
  /** The label of a second button that submits with the intent `now`. */
  now?: string | undefined
  backTo: string
  facts: RequestFacts
  /** Shown before the request. */
  children: ReactNode
  /** Shown after the retries. */
  more?: ReactNode
}

/** The form of a task or cron job, with a preview of the request beside it. */
export function RequestForm({ state, action, now, backTo, facts, children, more }: RequestFormProps) {
  const { form, onBlur, isRestored, discard, ...fields } = state
  const [hasCallbacks] = useState(() => Object.values(fields.draft.callbacks).some(({ url }) => url !== ''))
  return (
    <div className={styles.editor}>
      <FormFrame
        form={form}
        isLong
        onBlur={onBlur}
        action={action}
        notice={<MissingSecrets draft={fields.draft} />}
        more={
          <ButtonLink to={backTo} onClick={discard}>
            Cancel
          </ButtonLink>
        }
        after={
          now && (
            <Button type="submit" value="now" isPending={form.isPending}>
              {now}
            </Button>
          )
        }
      >
        {isRestored && (
          <p className={styles.restored} role="status">
            <span>Unsaved changes restored.</span>
            <Button size="small" onClick={discard}>
              Discard
            </Button>
          </p>
        )}
        {children}
        <FormCard label="Request">
          <RequestFields {...fields} />
        </FormCard>
        <FoldedCard summary="Timeout and retries" values={retrySummary(fields.draft)}>
          <RetryFields {...fields} />
        </FoldedCard>
        <FoldedCard summary="Callbacks" isOpenAtFirst={hasCallbacks}>
          <CallbackFields {...fields} />
        </FoldedCard>
        {more}
      </FormFrame>
      <aside className={styles.aside} aria-label="Preview">
        <RequestPreview draft={fields.draft} facts={facts} />
      </aside>
    </div>
  )
}

export function FormCard({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Card label={label}>
      <Stack>{children}</Stack>
    </Card>
  )
}
