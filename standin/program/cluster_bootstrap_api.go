package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// answerError is an answer that says no, in the words of the API server.
type answerError struct {
	status  int
	message string
}

func (e *answerError) Error() string { return e.message }

func (b *bootstrapRun) get(path string, into any) error {
	return b.send(http.MethodGet, path, nil, into)
}

func (b *bootstrapRun) send(method, path string, body, into any) error {
	var data []byte
	if o, is := body.(object); is {
		var err error
		if data, err = json.Marshal(o); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, localAPI+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := b.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		var status struct{ Message string }
		if json.Unmarshal(answer, &status) != nil || status.Message == "" {
			status.Message = strings.TrimSpace(string(answer))
		}
		return &answerError{response.StatusCode, status.Message}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}
