package record

import "time"

// Service is the record of one service.
type Service struct {
	// Name is the unit's, without .service. What a script records beside
	// bootkube's is called by the script's stage.
	Name string
	*Log
	// Older is what an older record says that was torn and set aside.
	Older *Log
}

// doubled is the longest time between the two starts that bootkube.service
// writes: bootkube.sh reads bootstrap-service-record.sh, and
// bootstrap-verify-api-server-urls.sh which reads it again, in its first lines.
// systemd waits longer before it starts a service again (RestartSec=5 in
// bootkube.service). Source: openshift/installer data/data/bootstrap, 4.14 to main.
const doubled = 4 * time.Second

// Runs is how often the service started. Two starts with nothing between them
// are one if they are of one moment.
func (s *Service) Runs() int {
	runs := 0
	for i := range s.Entries {
		if s.Entries[i].Phase == ServiceStart && !s.startsTwice(i) {
			runs++
		}
	}
	return runs
}

// startsTwice says whether an entry is the second start of the same run.
func (s *Service) startsTwice(i int) bool {
	if i == 0 || s.Entries[i].Phase != ServiceStart || s.Entries[i-1].Phase != ServiceStart {
		return false
	}
	first, second := s.Entries[i-1].Time(), s.Entries[i].Time()
	return second.Sub(first).Abs() <= doubled
}

// Successful says whether the service ended well the last time, as
// openshift-install analyze judges it: by the last entry alone.
// Source: openshift/installer pkg/gather/service/analyze.go, 4.14 to main.
func (s *Service) Successful() bool {
	if len(s.Entries) == 0 {
		return false
	}
	last := s.Entries[len(s.Entries)-1]
	return last.Result == Success && (last.Phase == ServiceEnd || last.Phase == PostCommandEnd)
}

// LastOf is the last entry of a stage; nil if it never began.
func (s *Service) LastOf(stage string) *Entry {
	for i := len(s.Entries) - 1; i >= 0; i-- {
		if kind, name, _ := s.Entries[i].span(); kind == Stage && name == stage {
			return &s.Entries[i]
		}
	}
	return nil
}
