import { X } from 'lucide-react'
import { Toast as Radix } from 'radix-ui'
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { classNames } from './class-names.ts'
import styles from './toast.module.css'

type ToastAction = { label: string; run(): void }
type Shown = { id: number; text: string; isBad: boolean; action: ToastAction | undefined }
type ShowToast = (text: string, kind?: 'good' | 'bad', action?: ToastAction) => void

const ToastContext = createContext<ShowToast>(() => {})

/** Returns a function that shows a notification. Errors of a form belong in the form instead. */
export function useToast(): ShowToast {
  return useContext(ToastContext)
}

export function ToastProvider({ children }: { children: ReactNode }): ReactNode {
  const [shown, setShown] = useState<readonly Shown[]>([])
  const showToast = useCallback<ShowToast>(
    (text, kind = 'good', action) =>
      setShown(before => [
        ...before.slice(-2),
        { id: Date.now() + Math.random(), text, isBad: kind === 'bad', action },
      ]),
    [],
  )
  const close = (id: number) => setShown(before => before.filter(toast => toast.id !== id))
  return (
    <ToastContext value={showToast}>
      <Radix.Provider duration={6000} label="Notification">
        {children}
        {shown.map(({ id, text, isBad, action }) => (
          <Radix.Root
            key={id}
            className={classNames(styles.toast, isBad && styles.bad)}
            onOpenChange={open => !open && close(id)}
          >
            <Radix.Description>{text}</Radix.Description>
            {action && (
              <Radix.Action altText={action.label} asChild>
                <Button size="small" onClick={action.run}>
                  {action.label}
                </Button>
              </Radix.Action>
            )}
            <IconButton label="Close" size="small" icon={<X size={14} />} onClick={() => close(id)} />
          </Radix.Root>
        ))}
        <Radix.Viewport className={styles.viewport} />
      </Radix.Provider>
    </ToastContext>
  )
}
