package scripts

import "testing"

const serviceStart = `{"timestamp":"2026-01-02T03:04:05Z","phase":"service start"}`

func TestRecordsOfTheInstallersFormatAreTaken(t *testing.T) {
	for name, text := range map[string]string{
		"one stage": `{"timestamp":"2026-01-02T03:04:05Z","phase":"stage start","stage":"a"},
			{"timestamp":"2026-01-02T03:04:05Z","phase":"stage end","stage":"a","result":"success"}`,
		"a stage that failed": `{"timestamp":"2026-01-02T03:04:05Z","phase":"stage start","stage":"a"},
			{"timestamp":"2026-01-02T03:04:05Z","phase":"stage end","stage":"a","result":"failure","errorLine":"1 x y","errorMessage":"z"}`,
		"a stage that was killed, again": `{"timestamp":"2026-01-02T03:04:05Z","phase":"stage start","stage":"a"},
			{"timestamp":"2026-01-02T03:04:05Z","phase":"stage start","stage":"a"}`,
	} {
		if _, err := ParseRecords([]byte("[" + serviceStart + "," + text + "]")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOtherRecordsAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no array":               serviceStart,
		"no service":             `[{"timestamp":"2026-01-02T03:04:05Z","phase":"stage start","stage":"a"}]`,
		"two services":           "[" + serviceStart + "," + serviceStart + "]",
		"an unknown key":         `[{"timestamp":"2026-01-02T03:04:05Z","phase":"service start","more":"x"}]`,
		"a local time zone":      `[{"timestamp":"2026-01-02T03:04:05+01:00","phase":"service start"}]`,
		"an empty key":           `[{"timestamp":"2026-01-02T03:04:05Z","phase":"service start","stage":""}]`,
		"an end without a start": "[" + serviceStart + `,{"timestamp":"2026-01-02T03:04:05Z","phase":"stage end","stage":"a","result":"success"}]`,
		"a failure without words": "[" + serviceStart + `,{"timestamp":"2026-01-02T03:04:05Z","phase":"stage start","stage":"a"},
			{"timestamp":"2026-01-02T03:04:05Z","phase":"stage end","stage":"a","result":"failure"}]`,
		"a stage inside another": "[" + serviceStart + `,{"timestamp":"2026-01-02T03:04:05Z","phase":"stage start","stage":"a"},
			{"timestamp":"2026-01-02T03:04:05Z","phase":"stage start","stage":"b"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			if records, err := ParseRecords([]byte(text)); err == nil {
				t.Errorf("took %+v", records)
			}
		})
	}
}
