import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { meQuery, updateMe } from '../../api/session.ts'
import { signInMethodsQuery } from '../../api/sign-in.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { chooseTheme, chosenTheme, type Theme } from '../../layout/theme.ts'
import { Link } from '../../ui/button.tsx'
import { Stack } from '../../ui/card.tsx'
import { Field, optionsOf, Select, TextInput } from '../../ui/field.tsx'
import { AccountData } from './account-data.tsx'
import styles from './profile.module.css'
import { SecondFactorList } from './second-factors.tsx'
import { SecurityLog } from './security-log.tsx'
import { Sessions } from './sessions.tsx'

const minPasswordLength = 12

/** The profile of the signed-in user, which belongs to no organization. */
export function Profile(): ReactNode {
  const { data: me } = useSuspenseQuery(meQuery)
  const { data: methods } = useQuery(signInMethodsQuery)
  return (
    <PlainLayout title="Your profile" description={me.user.email} foot={<Link to="/">Back to dashboard</Link>}>
      <Stack>
        <NameForm name={me.user.name} />
        {methods?.password && <PasswordForm />}
        <SecondFactorList />
        <ThemeChoice />
        <Sessions />
        <SecurityLog />
        <AccountData />
      </Stack>
    </PlainLayout>
  )
}

function NameForm({ name }: { name: string }): ReactNode {
  const form = useForm({
    read: field => ({ name: field('name').trim() }),
    check: body => ({ ...(body.name === '' ? { name: 'Enter your name.' } : {}) }),
    submit: updateMe,
    done: () => 'Name saved',
    affects: [meQuery.queryKey],
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
  // A new key clears the fields.
  const [times, setTimes] = useState(0)
  const form = useForm({
    isSignIn: true,
    read: field => ({ current_password: field('current_password'), password: field('password') }),
    check: body => ({
      ...(body.current_password === '' ? { current_password: 'Enter your current password.' } : {}),
      ...(body.password.length < minPasswordLength
        ? { password: `Use at least ${minPasswordLength} characters.` }
        : {}),
    }),
    submit: (body: { current_password: string; password: string }) => updateMe(body),
    onDone: () => setTimes(times + 1),
    done: () => 'Password changed. All other sessions are signed out.',
  })
  return (
    <section className={styles.part}>
      <h2>Password</h2>
      <Form key={times} form={form} action="Change password">
        <Field label="Current password" error={form.errors.current_password}>
          <TextInput name="current_password" type="password" autoComplete="current-password" />
        </Field>
        <Field label="New password" hint={`At least ${minPasswordLength} characters.`} error={form.errors.password}>
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
      <h2>Appearance</h2>
      <Field label="Theme" hint="Applies to this browser only.">
        <Select
          value={theme}
          onChange={event => {
            const chosen = event.target.value as Theme // one of the options
            chooseTheme(chosen)
            setTheme(chosen)
          }}
          options={optionsOf({ system: 'System', light: 'Light', dark: 'Dark' })}
        />
      </Field>
    </section>
  )
}
