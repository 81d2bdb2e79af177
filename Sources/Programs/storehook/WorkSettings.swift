/// All that `storehook work` reads of the settings, read before it begins. `storehook doctor --role worker` reads the same.
enum WorkSettings {
    /// - Throws: `CommandFailure` naming the setting that is missing or wrong.
    static func check(_ settings: Settings) throws {
        try settings.refuseSkippedVerification()
        _ = try settings.logger("worker")
        try settings.checkEndpoints()
        _ = (try settings.verifier(), try settings.writableDatabase())
        _ = (try settings.accountIDs(), try settings.listens(), try settings.lease(), try settings.retries())
        _ = (try settings.junkLimits(), try settings.statusPolicy(), try settings.retention())
        _ = (try settings.checksRevocation(), try settings.consumptionPolicy())
        if settings.hasAppleKeys { _ = (try AppleSettings(settings), try settings.canaryIntervals(for: [])) }
    }
}
