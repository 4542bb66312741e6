import type { CreateIntegrationBody, Integration } from '@belfry/contract/integration'
import { type ReactNode, useState } from 'react'
import { createIntegration, updateIntegration } from '../../api/integrations.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field, optionsOf, Select, TextInput } from '../../ui/field.tsx'
import styles from './settings.module.css'

type Channel = Integration['channel']
type AlertEvent = Integration['events'][number]

export const channelNames: Record<Channel, string> = {
  slack: 'Slack',
  discord: 'Discord',
  email: 'Email',
  webhook: 'Webhook',
}

export const eventNames: Record<AlertEvent, string> = {
  'task.dead': 'Dead task',
  'cronjob.failing': 'Failing cron job',
  'cronjob.recovered': 'Recovered cron job',
  'quota.warning': 'Quota at 80%',
  'quota.reached': 'Quota reached',
}

const events = Object.keys(eventNames) as AlertEvent[] // its own keys
const hints: Record<Exclude<Channel, 'email'>, string> = {
  slack: 'The incoming webhook of your Slack app: https://hooks.slack.com/services/…',
  discord: 'The webhook of the channel: https://discord.com/api/webhooks/…',
  webhook: 'Receives each alert as JSON, signed like every delivery.',
}

type IntegrationFormProps = {
  /** The integration to edit; null creates one. */
  integration: Integration | null
  onDone(): void
}

export function IntegrationForm({ integration, onDone }: IntegrationFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const [channel, setChannel] = useState<Channel>(integration?.channel ?? 'slack')
  const form = useForm({
    read: field => ({
      name: field('name').trim(),
      events: events.filter(event => field(event) !== ''),
      target: field(channel === 'email' ? 'email' : 'url').trim(),
    }),
    check: body => ({
      ...(body.name === '' ? { name: 'Enter a name.' } : {}),
      ...(body.target === '' && !integration ? targetError(channel) : {}),
      ...(body.events.length === 0 ? { events: 'Select at least one event.' } : {}),
    }),
    submit({ name, events, target }) {
      const where = channel === 'email' ? { email: target } : { url: target }
      if (!integration) {
        // The types cannot express that the channel decides the kind of target.
        return createIntegration(workspace.id, { channel, name, events, ...where } as CreateIntegrationBody)
      }
      return updateIntegration(workspace.id, integration.id, { name, events, ...(target === '' ? {} : where) })
    },
    onDone,
    done: ({ name }) => (integration ? `${name} updated` : `${name} created. Send a test to check it.`),
    affects: [['integrations', workspace.id]],
  })
  const keeps = integration ? ` Leave empty to keep ${integration.target}.` : ''
  return (
    <Form
      form={form}
      action={integration ? 'Save' : 'Create integration'}
      more={<Button onClick={onDone}>Cancel</Button>}
    >
      {!integration && (
        <Field label="Channel">
          <Select
            value={channel}
            onChange={event => setChannel(event.target.value as Channel)} // one of the options
            options={optionsOf(channelNames)}
          />
        </Field>
      )}
      <Field label="Name" error={form.errors.name}>
        <TextInput name="name" defaultValue={integration?.name} placeholder="On call" autoComplete="off" />
      </Field>
      {channel === 'email' ? (
        <Field label="Email address" hint={keeps} error={form.errors.email}>
          <TextInput name="email" type="email" autoComplete="off" />
        </Field>
      ) : (
        <Field
          label="URL"
          hint={`${hints[channel]} It is stored encrypted and not shown again.${keeps}`}
          error={form.errors.url}
        >
          <TextInput name="url" type="url" isMono autoComplete="off" />
        </Field>
      )}
      <fieldset className={styles.fieldset}>
        <legend>Events</legend>
        {events.map(event => (
          <Checkbox
            key={event}
            name={event}
            label={eventNames[event]}
            isInitiallyOn={integration ? integration.events.includes(event) : event === 'task.dead'}
          />
        ))}
      </fieldset>
    </Form>
  )
}

function targetError(channel: Channel): Record<string, string> {
  return channel === 'email' ? { email: 'Enter an email address.' } : { url: 'Enter the URL.' }
}
