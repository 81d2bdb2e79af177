import HTTPKit
package import Pipeline

/// What answers at the URL that App Store Connect is said to have: asked by a GET, which stores nothing.
package struct URLCheck: Sendable {
    private let url: String

    /// A check of a URL.
    package init(_ url: String) { self.url = url }

    /// Waits some seconds at most.
    package func answer() async -> ConnectionVerdict.URLAnswer {
        var request = OutboundRequest("GET", url)
        request.answerBody = .whole(upTo: 65_536)
        do throws(OutboundFault) {
            let answer = try await OutboundClient.send(request, limits: OutboundClient.Limits(total: .seconds(8)))
            return ReceiverAnswer.isReceivers(answer) ? .receiver : .status(answer.status)
        } catch {
            switch error {
            case .handshake, .tls: return .tls
            // More than any receiver says.
            case .tooLong: return .status(200)
            default: return .silence
            }
        }
    }
}

/// How storehook's receiver is distinguished from anything else that answers.
enum ReceiverAnswer {
    /// Whether only storehook's receiver answers a GET so.
    static func isReceivers(_ answer: OutboundAnswer) -> Bool {
        answer.status == 405 && String(decoding: answer.body, as: UTF8.self).contains("POST only")
    }
}
