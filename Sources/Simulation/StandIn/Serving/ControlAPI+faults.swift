import AppStorePayloads
import Base

/// What may be broken between Apple and a receiver, or between a client and Apple, as Apple would show it.
extension ControlAPI {
    /// `{postResult?, keyRefusedIn?, clockAheadSeconds?}`: the faults from now on; what is left out is mended.
    func setFaults(_ call: Call) async throws(Refusal) -> JSONValue {
        let body = try call.object()
        var faults = MadeFaults()
        if let result = body.string("postResult") {
            guard MadeFaults.postResults.contains(result) else {
                throw Refusal(
                    status: 400, "postResult is one of \(MadeFaults.postResults.sorted().joined(separator: ", "))")
            }
            faults.postResult = result
        }
        switch body.string("keyRefusedIn") {
        case nil: break
        case "everywhere": faults.keyRefusedIn = Set(SimulatedApp.Environment.allCases)
        case let name?:
            guard let place = SimulatedApp.Environment(rawValue: name) else {
                throw Refusal(status: 400, "keyRefusedIn is Production, Sandbox or everywhere")
            }
            faults.keyRefusedIn = [place]
        }
        if let seconds = body.integer("clockAheadSeconds") {
            guard (-86_400...86_400).contains(seconds) else {
                throw Refusal(status: 400, "clockAheadSeconds goes from -86400 to 86400")
            }
            faults.clockAheadSeconds = seconds
        }
        await store.set(faults)
        return .members([
            "postResult": faults.postResult.map { JSONValue.string($0) },
            "keyRefusedIn": .texts(faults.keyRefusedIn.map(\.rawValue).sorted()),
            "clockAheadSeconds": .integer(faults.clockAheadSeconds),
        ])
    }
}
