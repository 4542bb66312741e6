import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { meQuery, updateMe } from '../../api/session.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { chooseTheme, chosenTheme, type Theme } from '../../layout/theme.ts'
import { Link } from '../../ui/button.tsx'
import { Stack } from '../../ui/card.tsx'
import { Field, Select, TextInput } from '../../ui/field.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './profile.module.css'

const shortestPassword = 12

/** The signed-in user's own page: it belongs to no organization. */
export function Profile(): ReactNode {
  const { data: me } = useSuspenseQuery(meQuery)
  return (
    <PlainLayout title="Your profile" description={me.user.email} foot={<Link to="/">Back to the dashboard</Link>}>
      <Stack>
        <NameForm name={me.user.name} />
        <PasswordForm />
        <ThemeChoice />
      </Stack>
    </PlainLayout>
  )
}

function NameForm({ name }: { name: string }): ReactNode {
  const client = useQueryClient()
  const say = useToast()
  const form = useForm({
    read: field => ({ name: field('name').trim() }),
    check: body => ({ ...(body.name === '' ? { name: 'Type in your name.' } : {}) }),
    submit: updateMe,
    onDone(me) {
      client.setQueryData(meQuery.queryKey, me)
      say('Saved.')
    },
  })
  return (
    <Form form={form} action="Save name">
      <Field label="Name" error={form.errors.name}>
        <TextInput name="name" defaultValue={name} autoComplete="name" />
      </Field>
    </Form>
  )
}

function PasswordForm(): ReactNode {
  const say = useToast()
  // A new key empties the fields.
  const [times, setTimes] = useState(0)
  const form = useForm({
    isSignIn: true,
    read: field => ({ current_password: field('current_password'), password: field('password') }),
    check: body => ({
      ...(body.current_password === '' ? { current_password: 'Type in your present password.' } : {}),
      ...(body.password.length < shortestPassword
        ? { password: `Use at least ${shortestPassword} characters; a few words are fine.` }
        : {}),
    }),
    submit: (body: { current_password: string; password: string }) => updateMe(body),
    onDone() {
      setTimes(times + 1)
      say('Your password is changed. Everywhere else you are signed out.')
    },
  })
  return (
    <section className={styles.part}>
      <h2>Password</h2>
      <Form key={times} form={form} action="Change password">
        <Field label="Present password" error={form.errors.current_password}>
          <TextInput name="current_password" type="password" autoComplete="current-password" />
        </Field>
        <Field label="New password" hint={`At least ${shortestPassword} characters.`} error={form.errors.password}>
          <TextInput name="password" type="password" autoComplete="new-password" />
        </Field>
      </Form>
    </section>
  )
}

function ThemeChoice(): ReactNode {
  const [theme, setTheme] = useState(chosenTheme)
  return (
    <section className={styles.part}>
      <h2>Looks</h2>
      <Field label="Theme" hint="In this browser.">
        <Select
          value={theme}
          onChange={event => {
            const chosen = event.target.value as Theme // one of the options below
            chooseTheme(chosen)
            setTheme(chosen)
          }}
        >
          <option value="system">As the system</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </Select>
      </Field>
    </section>
  )
}
