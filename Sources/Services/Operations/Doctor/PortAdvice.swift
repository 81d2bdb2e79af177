import Glibc
package import HTTPKit

/// Why a port cannot be listened on, and what to do. Used by the doctor, and by a program that ends for this reason.
package struct PortAdvice {
    /// One line, which begins with the address.
    package let text: String

    /// - Parameter option: the option that chooses another port.
    package init(_ failure: ListenFailure, option: String) {
        let place = "\(failure.host):\(failure.port)"
        switch failure.code {
        case EADDRINUSE:
            let owner = PortOwner.find(port: failure.port)
            if owner?.id == Int(getpid()) {
                text =
                    "\(place), which this command listens on already: --port and --metrics-port are the same number, give another to "
                    + "one of them"
                return
            }
            let who =
                owner.map { "\($0.name), process \($0.id)" } ?? "a process that this user may not see (root: ss -ltnp)"
            text = "\(place), which is taken by \(who): stop it, or choose another port with \(option)"
        case EACCES:
            text = "\(place), which needs a right that this user lacks: choose a port from 1024 on with \(option)"
        case EADDRNOTAVAIL, nil:
            text = "\(place), which is no address of this machine: see \(option.replacing("port", with: "host"))"
        case .some(let code):
            text = "\(place): \(String(cString: strerror(code)))"
        }
    }
}
