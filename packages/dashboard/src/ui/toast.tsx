import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { latePart } from './late-part.tsx'

export type ToastAction = { label: string; run(): void }
export type Shown = { id: number; text: string; isBad: boolean; action: ToastAction | undefined }
type ShowToast = (text: string, kind?: 'good' | 'bad', action?: ToastAction) => void

const Toasts = latePart(async () => (await import('./toasts.tsx')).Toasts)
const ToastContext = createContext<ShowToast>(() => {})

/** Returns a function that shows a notification. Errors of a form belong in the form instead. */
export function useToast(): ShowToast {
  return useContext(ToastContext)
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<readonly Shown[] | null>(null)
  const showToast = useCallback<ShowToast>(
    (text, kind = 'good', action) =>
      setShown(before => [
        ...(before ?? []).slice(-2),
        { id: Date.now() + Math.random(), text, isBad: kind === 'bad', action },
      ]),
    [],
  )
  const close = (id: number) => setShown(before => before?.filter(toast => toast.id !== id) ?? null)
  return (
    <ToastContext value={showToast}>
      {children}
      {shown && <Toasts shown={shown} onClose={close} />}
    </ToastContext>
  )
}
