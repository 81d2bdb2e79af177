/// Why a ``StandInSource`` could not do what was asked.
public enum StandInError: Error, Sendable, Hashable, CustomStringConvertible {
    /// ``StandInFaults`` broke this call off.
    case cut(StandInFaults.Point)
    /// The stand-in answered with another status than 200.
    /// - status: its HTTP status.
    /// - message: its reason.
    case refused(status: Int, message: String)
    /// The answer is not what a stand-in of this version says.
    case unreadable(String)

    /// One line for a log.
    public var description: String {
        switch self {
        case .cut(let point): "the call \(point) was broken off on purpose"
        case .refused(let status, let message): "the stand-in answers \(status): \(message)"
        case .unreadable(let what): "the stand-in's answer cannot be read: \(what)"
        }
    }
}
