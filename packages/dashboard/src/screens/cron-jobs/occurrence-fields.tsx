import { type DraftProps, draftInput, draftValue } from '../../forms/draft-input.ts'
import { WhenField } from '../../forms/when/when-field.tsx'
import { optionsOf, SelectField } from '../../ui/field.tsx'
import type { CronJobDraft } from './cron-job-draft.ts'
import own from './cron-jobs.module.css'

export function OccurrenceFields({ draft, onChange }: DraftProps<CronJobDraft>) {
  return (
    <>
      <div className={own.pair}>
        <SelectField
          label="If the previous run has not finished"
          name="overlap"
          {...draftInput(draft, 'overlap', onChange)}
          options={optionsOf({ allow: 'Start anyway', skip: 'Skip the occurrence' })}
        />
        <SelectField
          label="Missed runs"
          name="catch_up"
          {...draftInput(draft, 'catchUp', onChange)}
          options={optionsOf({ latest: 'Run the latest', all: 'Run all, up to 100', none: 'Skip them' })}
        />
      </div>
      <WhenField label="Starts" name="starts_at" isOptional {...draftValue(draft, 'startsAt', onChange)} />
      <WhenField label="Ends" name="ends_at" isOptional {...draftValue(draft, 'endsAt', onChange)} />
    </>
  )
}
