import type { CreateIntegrationBody, Integration } from '@belfry/contract'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { createIntegration, updateIntegration } from '../../api/integrations.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field, Select, TextInput } from '../../ui/field.tsx'
import { useToast } from '../../ui/toast.tsx'
import { type AlertEvent, channelNames, eventNames } from './alert-names.ts'
import styles from './settings.module.css'

type Channel = Integration['channel']

const channels = Object.keys(channelNames) as Channel[] // its own keys
const events = Object.keys(eventNames) as AlertEvent[]
const hints: Record<Exclude<Channel, 'email'>, string> = {
  slack: 'An incoming webhook of your Slack app: https://hooks.slack.com/services/…',
  discord: 'A webhook of the channel: https://discord.com/api/webhooks/…',
  webhook: 'Gets each alert as JSON, signed like every delivery.',
}

type IntegrationFormProps = {
  /** The one to change; null makes a new one. */
  integration: Integration | null
  onDone(): void
}

export function IntegrationForm({ integration, onDone }: IntegrationFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const client = useQueryClient()
  const say = useToast()
  const [channel, setChannel] = useState<Channel>(integration?.channel ?? 'slack')
  const form = useForm({
    read: field => ({
      name: field('name').trim(),
      events: events.filter(event => field(event) !== ''),
      target: field(channel === 'email' ? 'email' : 'url').trim(),
    }),
    check: body => ({
      ...(body.name === '' ? { name: 'Type in a name.' } : {}),
      ...(body.target === '' && !integration ? targetError(channel) : {}),
      ...(body.events.length === 0 ? { events: 'Choose at least one thing to be told of.' } : {}),
    }),
    submit({ name, events, target }) {
      const where = channel === 'email' ? { email: target } : { url: target }
      if (!integration) {
        // The channel and its kind of target belong together, which their types cannot say.
        return createIntegration(workspace.id, { channel, name, events, ...where } as CreateIntegrationBody)
      }
      return updateIntegration(workspace.id, integration.id, { name, events, ...(target === '' ? {} : where) })
    },
    async onDone({ name }) {
      onDone()
      say(integration ? `${name} is changed.` : `${name} is told from now on. Send it a test.`)
      await client.invalidateQueries({ queryKey: ['integrations', workspace.id] })
    },
  })
  const keeps = integration ? ` Left empty, ${integration.target} stays.` : ''
  return (
    <Form
      form={form}
      action={integration ? 'Save' : 'Create integration'}
      more={<Button onClick={onDone}>Cancel</Button>}
    >
      {!integration && (
        <Field label="Channel">
          <Select value={channel} onChange={event => setChannel(event.target.value as Channel)}>
            {channels.map(one => (
              <option key={one} value={one}>
                {channelNames[one]}
              </option>
            ))}
          </Select>
        </Field>
      )}
      <Field label="Name" error={form.errors.name}>
        <TextInput name="name" defaultValue={integration?.name} placeholder="On call" autoComplete="off" />
      </Field>
      {channel === 'email' ? (
        <Field label="E-mail address" hint={keeps} error={form.errors.email}>
          <TextInput name="email" type="email" autoComplete="off" />
        </Field>
      ) : (
        <Field
          label="URL"
          hint={`${hints[channel]} It is kept encrypted and not shown again.${keeps}`}
          error={form.errors.url}
        >
          <TextInput name="url" type="url" isMono autoComplete="off" />
        </Field>
      )}
      <fieldset className={styles.fieldset}>
        <legend>Told of</legend>
        {events.map(event => (
          <Checkbox
            key={event}
            name={event}
            label={eventNames[event]}
            isOnAtFirst={integration ? integration.events.includes(event) : event === 'task.dead'}
          />
        ))}
      </fieldset>
    </Form>
  )
}

function targetError(channel: Channel): Record<string, string> {
  return channel === 'email' ? { email: 'Type in an e-mail address.' } : { url: 'Type in the URL.' }
}
