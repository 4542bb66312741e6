// Package belfry calls the HTTP API of a Belfry installation.
package belfry

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	requestTimeout = 30 * time.Second
	// More than the API returns for a page of 100 objects with payloads of the maximum size.
	maxResponseBytes = 64 << 20
)

// Client calls the API with the key of a workspace.
type Client struct {
	baseURL   string
	apiKey    string
	userAgent string
	http      *http.Client
	// Waits between two attempts. Tests replace it.
	pause func(context.Context, time.Duration) error
}

// New returns a client. It refuses a URL that is not an absolute http or https URL.
func New(baseURL, apiKey, version string) (*Client, error) {
	parsed, err := url.Parse(baseURL)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" || parsed.User != nil {
		return nil, errors.New("must be an absolute http or https URL without a user, such as https://belfry.example.com")
	}
	return &Client{
		baseURL:   strings.TrimRight(baseURL, "/"),
		apiKey:    apiKey,
		userAgent: "terraform-provider-belfry/" + version,
		http: &http.Client{
			Timeout: requestTimeout,
			// The key must not reach another host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		pause: pause,
	}, nil
}

// IsInsecure returns whether the key would travel unencrypted to another machine.
func (c *Client) IsInsecure() bool {
	parsed, err := url.Parse(c.baseURL)
	if err != nil || parsed.Scheme == "https" {
		return false
	}
	host := parsed.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return false
	}
	address := net.ParseIP(host)
	return address == nil || !address.IsLoopback()
}

// Get reads an object.
func (c *Client) Get(ctx context.Context, path string, out any) error {
	return c.do(ctx, call{method: http.MethodGet, path: path, isRepeatable: true}, out)
}

// Put creates or replaces an object.
func (c *Client) Put(ctx context.Context, path string, body, out any) error {
	return c.do(ctx, call{method: http.MethodPut, path: path, body: body, isRepeatable: true}, out)
}

// Patch sets fields of an object. It can be repeated, because the body has their new values.
func (c *Client) Patch(ctx context.Context, path string, body, out any) error {
	return c.do(ctx, call{method: http.MethodPatch, path: path, body: body, isRepeatable: true}, out)
}

// Create creates an object with an Idempotency-Key. isRepeatable says whether the API accepts that key, or refuses a second
// object in another way.
func (c *Client) Create(ctx context.Context, path string, body, out any, isRepeatable bool) error {
	return c.do(ctx, call{method: http.MethodPost, path: path, body: body, isRepeatable: isRepeatable}, out)
}

// Act performs an action without a body, such as a pause.
func (c *Client) Act(ctx context.Context, path string, out any) error {
	return c.do(ctx, call{method: http.MethodPost, path: path, isRepeatable: true}, out)
}

// Delete deletes an object. An object that is gone already is no error.
func (c *Client) Delete(ctx context.Context, path string) error {
	err := c.do(ctx, call{method: http.MethodDelete, path: path, isRepeatable: true}, nil)
	if IsNotFound(err) {
		return nil
	}
	return err
}

type call struct {
	method, path string
	body         any
	// Whether a second request has no further effect.
	isRepeatable bool
}

func (c *Client) do(ctx context.Context, call call, out any) error {
	text, err := encode(call.body)
	if err != nil {
		return err
	}
	idempotencyKey := ""
	if call.method == http.MethodPost {
		idempotencyKey = rand.Text()
	}
	wasAmbiguous := false
	for retries := 0; ; retries++ {
		err := c.attempt(ctx, call, text, idempotencyKey, out)
		if err == nil {
			return nil
		}
		var refusal *Error
		if errors.As(err, &refusal) {
			refusal.FollowsLostAnswer = wasAmbiguous
		}
		delay, ok := retryDelay(err, retries, call.isRepeatable)
		if !ok {
			return err
		}
		wasAmbiguous = wasAmbiguous || isAmbiguous(err)
		if err := c.pause(ctx, delay); err != nil {
			return err
		}
	}
}

// encode writes JSON without escapes that a payload does not need.
func encode(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(body)
	return text.Bytes(), err
}

func (c *Client) attempt(ctx context.Context, call call, body []byte, idempotencyKey string, out any) error {
	request, err := http.NewRequestWithContext(ctx, call.method, c.baseURL+call.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", c.userAgent)
	request.Header.Set("X-Api-Key", c.apiKey)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes))
	if err != nil {
		return &url.Error{Op: call.method, URL: c.baseURL + call.path, Err: err}
	}
	if response.StatusCode >= 300 {
		return readError(response, text)
	}
	if out == nil || len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s %s did not answer as Belfry does: %w", call.method, call.path, err)
	}
	return nil
}

func pause(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
