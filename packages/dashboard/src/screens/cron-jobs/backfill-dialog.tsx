import type { CronJob } from '@belfry/contract/cron-job'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { Form } from '../../forms/form.tsx'
import { readWhen, type WhenDraft } from '../../forms/when/parse-when.ts'
import { WhenField } from '../../forms/when/when-field.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { optionsOf, SelectField } from '../../ui/field.tsx'
import { formatThings } from '../../ui/format-amount.ts'

const rates = optionsOf({ 0: 'All at once', 1: '1 per second', 10: '10 per second', 100: '100 per second' })

export function BackfillDialog({ job, onClose }: { job: CronJob; onClose(): void }) {
  const { workspace } = useWorkspace()
  const [from, setFrom] = useState<WhenDraft>({ text: 'yesterday 00:00', zone: job.timezone })
  const [to, setTo] = useState<WhenDraft>({ text: 'today 00:00', zone: job.timezone })
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Run for a past time"
      description="Each occurrence of that time without a task, or with a cancelled one, gets a task that is due now. At most 1,000."
      isWide
    >
      <Form
        read={field => ({ from: readWhen(from), to: readWhen(to), perSecond: Number(field('per_second')) })}
        check={({ from, to }) => ({ from: from.error, to: to.error })}
        submit={({ from, to, perSecond }) =>
          call('backfillCronJob', {
            ws: workspace.id,
            cronjob: job.id,
            body: { from: from.at ?? '', to: to.at ?? '', ...(perSecond > 0 ? { per_second: perSecond } : {}) },
          })
        }
        done={({ created, skipped }) => `${formatThings(created, 'task')} created, ${skipped} skipped`}
        action="Run"
      >
        <WhenField label="From" name="from" value={from} onChange={setFrom} />
        <WhenField label="Before" name="to" value={to} onChange={setTo} />
        <SelectField label="Speed" name="per_second" defaultValue="0" options={rates} />
      </Form>
    </Dialog>
  )
}
