/// What became of the notifications of one cell.
struct ChaosOutcome: Sendable {
    var cell = ""
    /// Posts, repeats of one that was not answered 200 not counted.
    var posted = 0
    /// Of them, those that were answered 200 in the end.
    var acknowledged = 0
    /// Posts sent again because they were not answered 200.
    var repeated = 0
    /// Recorded and applied, or parked.
    var applied = 0
    /// Stored more than once, by Apple's repeats or by ours after an answer that got lost.
    var duplicate = 0
    /// Buried.
    var dead = 0
    /// Of them, those that are there to be buried.
    var poisonous = 0
    /// Answered 200 and nowhere to be found.
    var lost = 0
    /// In two places at once.
    var doubled = 0
    /// Stored, and not to be read back from what the database holds.
    var unreadable = 0
    /// Cells in which the state differs from what Apple's bytes say.
    var differences = 0
    /// From the end of the fault until a notification posted after it is applied.
    var secondsToRecover = 0.0
    /// What else may not happen and did.
    var complaints: [String] = []
    /// Whether it was asked for by its name.
    var isAskedFor = false
    /// Why it was not run; then there are no figures.
    var skipped: String?
    /// Why it did not come to its end; then there are no figures either.
    var failure: String?

    /// Whether every notification is accounted for. A cell that was skipped is clean unless it was asked for by name.
    var isClean: Bool {
        if skipped != nil { return !isAskedFor }
        return failure == nil && complaints.isEmpty && lost == 0 && doubled == 0 && unreadable == 0 && differences == 0
            && dead == poisonous && acknowledged == posted
    }
}
