"""Forecasts of series by many random networks and naive methods, judged by free runs from rolling origins."""
