package audit

// How a fact can differ, and how a script can beyond its facts.
const (
	missing = iota
	added
	changed

	missingStage
	newStage
	stageOrder
	factOrder
	inWords
)

// meanings say what a difference means for the lesson: when the script lacks
// the fact, when stage data lacks it, when both say something else.
var meanings = map[string][3]string{
	factCondition: {"the stage runs where the lesson says it does not", "the stage does not always run", "the stage runs under another condition than the lesson says"},
	factSkip:      {"the script does not ask for this file before the stage", "the stage is left out when this file is there", "another file decides whether the stage is left out"},
	factMarker:    {"the stage is repeated at every start, and its marker does not make bootkube.sh skip it", "the lesson's script does not make this marker, so bootkube.sh would do the stage again", "bootkube.sh goes by another marker than the lesson's script makes"},
	factRemove:    {"results of an earlier run are left in place", "something is removed that the lesson keeps", "another directory is emptied before the stage"},
	factContainer: {"the container is not run", "a container runs that the lesson does not know", "the container runs under another name or condition"},
	factImage:     {"the container's image is not to be seen", "another image runs", "another image does the work: its flags and files may differ"},
	factOption:    {"podman is called without an option that the lesson explains", "podman gets an option that the lesson leaves out", "podman gets another value than in the lesson"},
	factCommand:   {"the command is not to be seen", "another command runs", "another command runs than in the lesson"},
	factFlag:      {"the lesson gives a flag that bootkube.sh does not; an operator that no longer knows it stops with unknown flag", "the lesson leaves a flag out; what it switches on or names is missing in the results", "the flag has another name, value or condition in the lesson, so the results differ"},
	factCopy:      {"the lesson copies files that bootkube.sh does not", "the lesson does not copy these files, so a later stage misses them", "files are copied from or to another place, in another way or under another condition"},
	factMkdir:     {"the lesson makes a directory that bootkube.sh does not", "the lesson does not make this directory, so a copy into it fails", "the directory is made under another condition"},
	factCall:      {"a check of the API's names is left out", "a check is made that the lesson does not know", "the check asks for another name or under another condition"},
	factRetry:     {"the command is not repeated until it succeeds", "the command is repeated until it succeeds", "the script waits in another way"},
	factFailure:   {"the script does nothing more when the stage fails", "the script does something when the stage fails", "the script does something else when the stage fails"},
	factLog:       {"the line by which the journal is read in the lesson is another", "", ""},
	factAsks:      {"the release is not asked for this image", "the release is asked for an image that no stage of the lesson uses", ""},
	factComputed:  {"a value that flags need is not asked for in this way", "a value is asked for that the lesson does not know", "a value is asked for in another way or under another condition"},
	factShell:     {"the script does not stop at errors in the way the lesson says", "the script changes how it treats errors", "the script treats errors differently"},
	factOther:     {"the script does not do this", "the script runs a command that the lesson does not know", "the command runs under another condition"},
}

func meaning(kind string, how int) string { return meanings[kind][how] }
