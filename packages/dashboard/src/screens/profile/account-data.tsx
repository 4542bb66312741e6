import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { accountExportUrl, deleteMe } from '../../api/session.ts'
import { signInMethodsQuery } from '../../api/sign-in.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import styles from './profile.module.css'

/** The export and the deletion of the account. */
export function AccountData(): ReactNode {
  const [isDeleting, setIsDeleting] = useState(false)
  return (
    <section className={styles.part}>
      <h2>Your data</h2>
      <p className={styles.address}>
        The export is a JSON file with your profile, memberships, sessions and security log.
      </p>
      <div className={styles.buttons}>
        <Button
          icon={<Download size={15} aria-hidden="true" />}
          onClick={() => {
            window.location.href = accountExportUrl
          }}
        >
          Export data
        </Button>
        <Button kind="danger" onClick={() => setIsDeleting(true)}>
          Delete account
        </Button>
      </div>
      <Dialog
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        title="Delete your account?"
        description="You leave all organizations, and all your sessions end. API keys and tasks that you created stay. This cannot be undone."
      >
        <DeleteForm onCancel={() => setIsDeleting(false)} />
      </Dialog>
    </section>
  )
}

function DeleteForm({ onCancel }: { onCancel(): void }): ReactNode {
  const { data: methods } = useQuery(signInMethodsQuery)
  const form = useForm({
    isSignIn: true,
    read: field => ({ ...(field('current_password') === '' ? {} : { current_password: field('current_password') }) }),
    check: body => ({
      ...(methods?.oidc || body.current_password ? {} : { current_password: 'Enter your password.' }),
    }),
    submit: deleteMe,
    // The page reloads, so nothing of the account stays in memory.
    onDone: () => location.replace('/'),
  })
  return (
    <Form form={form} action="Delete account" more={<Button onClick={onCancel}>Cancel</Button>}>
      {methods?.password === false ? (
        <p>This needs a sign-in within the last ten minutes.</p>
      ) : (
        <Field
          label="Password"
          hint={methods?.oidc ? `Not needed within ten minutes after a sign-in with ${methods.oidc.name}.` : undefined}
          error={form.errors.current_password}
        >
          <TextInput name="current_password" type="password" autoComplete="current-password" />
        </Field>
      )}
    </Form>
  )
}
