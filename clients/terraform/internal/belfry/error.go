package belfry

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// FieldError is a field of a request that the API refuses.
type FieldError struct {
	// Path has dots between its parts, such as "retry.max_retries".
	Path    string `json:"path"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error is a response of 300 or more.
type Error struct {
	Status    int          `json:"-"`
	Code      string       `json:"code"`
	Detail    string       `json:"detail"`
	Errors    []FieldError `json:"errors"`
	RequestID string       `json:"request_id"`
	// FollowsLostAnswer is set when an earlier attempt of the request may have succeeded.
	FollowsLostAnswer bool `json:"-"`

	retryAfter time.Duration
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s (%s, request %s)", e.Detail, e.Code, e.RequestID)
}

// IsNotFound returns whether an error says that an object does not exist.
func IsNotFound(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.Status == http.StatusNotFound
}

func readError(response *http.Response, text []byte) *Error {
	refusal := &Error{}
	if json.Unmarshal(text, refusal) != nil || refusal.Code == "" {
		refusal = &Error{Code: "unknown", RequestID: response.Header.Get("X-Request-Id")}
		refusal.Detail = fmt.Sprintf("The server answered with %s, which is not an answer of Belfry. Check the URL.", response.Status)
	}
	refusal.Status = response.StatusCode
	refusal.retryAfter = readRetryAfter(response.Header)
	return refusal
}
